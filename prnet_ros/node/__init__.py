"""The ROS 2 node: conversion, time, TF, parameters, services."""
