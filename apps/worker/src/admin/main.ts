#!/usr/bin/env node
import 'reflect-metadata';
import { CommanderError } from 'commander';
import { addAuditExport } from './audit-export';
import { addAuditSign } from './audit-sign';
import { addAuditVerify } from './audit-verify';
import { addCreateOrganization } from './create-organization';
import { addDeploymentId } from './deployment-id';
import { addIdentityKeys } from './identity-keys';
import { addMigrate } from './migrate';
import { addOverdue } from './overdue';
import { addPasswordLink } from './password-link';
import { addPlatformRole } from './platform-role';
import { createProgram, EXIT } from './program';
import { addRestored } from './restored';
import { addRotateMasterKey } from './rotate-master-key';

const program = createProgram();
for (const add of [
  addMigrate,
  addCreateOrganization,
  addPasswordLink,
  addPlatformRole,
  addOverdue,
  addRestored,
  addDeploymentId,
])
  add(program);
const audit = program.command('audit').description('verify, sign and export the audit trail');
for (const add of [addAuditVerify, addAuditSign, addAuditExport]) add(audit);
for (const add of [addRotateMasterKey, addIdentityKeys]) add(program);

program.parseAsync().catch((error: unknown) => {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.failed;
});
