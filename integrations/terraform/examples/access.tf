ephemeral "drawbridge_access" "database" {
  resources = ["orders-db"]
  enabled   = terraform.applying
}

provider "postgresql" {
  host = ephemeral.drawbridge_access.database.host
  port = ephemeral.drawbridge_access.database.port
}
