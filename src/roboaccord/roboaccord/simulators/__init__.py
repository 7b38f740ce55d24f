"""What every simulator derives from, and references of joint space and of trees."""
