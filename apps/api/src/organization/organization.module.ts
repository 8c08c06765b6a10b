import { Module } from '@nestjs/common';
import { OrganizationDeletionStore, OrganizationStore } from '#tenant-store';
import { BillingModule } from '../billing/billing.module';
import { MfaModule } from '../mfa/mfa.module';
import { OrganizationController } from './organization.controller';
import { OrganizationDeletion } from './organization-deletion.service';
import { OrganizationService } from './organization.service';

@Module({
  imports: [BillingModule, MfaModule],
  controllers: [OrganizationController],
  providers: [OrganizationService, OrganizationDeletion, OrganizationStore, OrganizationDeletionStore],
  exports: [OrganizationDeletion],
})
export class OrganizationModule {}
