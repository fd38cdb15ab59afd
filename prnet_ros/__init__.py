"""The ROS 2 node around prnet_core: conversion, time, TF, parameters and services; no maths."""
