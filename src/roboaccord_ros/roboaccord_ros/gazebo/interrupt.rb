# Ctrl-C ends the command gz without a traceback while it loads Gazebo, which then minds it itself.
trap('INT') { exit!(0) }
