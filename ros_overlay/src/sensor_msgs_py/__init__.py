"""The part of sensor_msgs_py that prnet_ros uses, for environments made of ROS 2 wheels."""
