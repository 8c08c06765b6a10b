ephemeral "drawbridge_access" "database" {
  resources = ["orders-db"]
}

provider "postgresql" {
  host = ephemeral.drawbridge_access.database.host
  port = ephemeral.drawbridge_access.database.port
}
