/** An import that a layer rule forbids, and the folder it is planted in. */
export interface PlantedImport {
  readonly folder: string;
  readonly source: string;
  readonly rule: string;
}

export const PLANTED_IMPORTS: readonly PlantedImport[] = [
  { folder: 'libs/rules', source: `import '#config';`, rule: 'base-layer-imports-nothing' },
  { folder: 'libs/rules', source: `import 'node:fs';`, rule: 'rules-are-pure' },
  { folder: 'libs/jobs', source: `import '#entities';`, rule: 'libs-import-the-base-layer-only' },
  {
    folder: 'apps/api',
    source: `import '../../worker/src/worker.settings';`,
    rule: 'apps-are-independent',
  },
  {
    folder: 'apps/api',
    source: `import '../../../libs/entities/src/database';`,
    rule: 'libs-by-index-only',
  },
  { folder: 'apps/agent', source: `import '#drivers';`, rule: 'agent-dependencies' },
  { folder: 'apps/agent', source: `import 'pg';`, rule: 'agent-dependencies' },
  { folder: 'apps/cli', source: `import '#rules';`, rule: 'cli-dependencies' },
  { folder: 'apps/action', source: `import '#rules';`, rule: 'action-dependencies' },
  { folder: 'apps/cli', source: `import '@actions/core';`, rule: 'actions-core-only-in-its-layer' },
  { folder: 'apps/api', source: `import 'openapi-fetch';`, rule: 'openapi-fetch-only-in-its-layer' },
  { folder: 'apps/agent', source: `import 'commander';`, rule: 'commander-only-in-its-layer' },
  {
    folder: 'apps/cli',
    source: `import '@modelcontextprotocol/sdk/types.js';`,
    rule: 'mcp-sdk-only-in-its-layer',
  },
  { folder: 'apps/worker', source: `import 'typeorm';`, rule: 'typeorm-only-in-its-layer' },
  { folder: 'apps/api', source: `import 'bullmq';`, rule: 'bullmq-only-in-its-layer' },
  { folder: 'libs/drivers', source: `import '@aws-sdk/client-ec2';`, rule: 'aws-sdk-only-in-its-layer' },
  {
    folder: 'libs/drivers',
    source: `import '../src/aws/aws.facts';`,
    rule: 'providers-are-independent',
  },
  { folder: 'apps/api', source: `import 'bcrypt';`, rule: 'bcrypt-only-in-its-layer' },
  { folder: 'apps/api', source: `import 'pg';`, rule: 'pg-only-in-its-layer' },
  { folder: 'libs/drivers', source: `import 'ioredis';`, rule: 'ioredis-only-in-its-layer' },
  { folder: 'libs/drivers', source: `import '@nestjs/common';`, rule: 'libs-without-framework' },
  { folder: 'libs/credentials', source: `import 'jose';`, rule: 'jose-only-in-its-layer' },
  { folder: 'apps/api', source: `import 'stripe';`, rule: 'stripe-only-in-its-layer' },
  { folder: 'apps/worker', source: `import 'nodemailer';`, rule: 'nodemailer-only-in-its-layer' },
  {
    folder: 'libs/tenant-store',
    source: `import '#engine-store';`,
    rule: 'tenant-store-uses-the-engine-port',
  },
  { folder: 'libs/tenant-store', source: `import '#connections';`, rule: 'connections-are-for-apps' },
  { folder: 'libs/engine', source: `import '#tenant-store';`, rule: 'engine-without-tenant-store' },
  { folder: 'apps/api', source: `import '#engine';`, rule: 'api-uses-the-engine-port' },
];
