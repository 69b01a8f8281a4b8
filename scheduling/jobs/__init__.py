"""What was asked, and its life: applications, jobs and their events."""
