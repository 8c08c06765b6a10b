import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module';
import { MfaModule } from '../mfa/mfa.module';
import { SsoAddresses } from '../sso/sso-addresses';
import { OrganizationController } from './organization.controller';
import { OrganizationDeletion } from './organization-deletion.service';
import { OrganizationService } from './organization.service';

@Module({
  imports: [BillingModule, MfaModule],
  controllers: [OrganizationController],
  providers: [OrganizationService, OrganizationDeletion, SsoAddresses],
  exports: [OrganizationDeletion],
})
export class OrganizationModule {}
