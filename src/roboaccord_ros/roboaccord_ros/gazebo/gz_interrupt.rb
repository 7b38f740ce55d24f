# Let Ctrl-C end the command gz without a traceback while it loads Gazebo, which then handles it.
trap('INT') { exit!(0) }
