"""Set-extended ClassAds: their language, sets of resources that match a request, and mappers of work onto them."""
