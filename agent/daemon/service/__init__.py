"""Having the system start the daemon: systemd, launchd."""
