terraform {
  required_version = ">= 1.10"
  required_providers {
    drawbridge = { source = "drawbridge/drawbridge" }
  }
}

provider "drawbridge" {
  url   = "https://drawbridge.example.com"
  trust = "https://drawbridge.example.com/o/3fa85f64-5717-4562-b3fc-2c963f66afa6"
}
