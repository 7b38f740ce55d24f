"""Bags: rosbag2 MCAP files of runs, written as the run goes, and readable even when it was cut."""
