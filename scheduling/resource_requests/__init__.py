"""The resource selector service of Set matching 2002: requests kept, tried and answered; the resource monitor."""
