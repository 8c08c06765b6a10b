import { Module } from '@nestjs/common';
import { StaticIpRulesModule } from '../static-ip-rules/static-ip-rules.module';
import { OrganizationLockdownController, UserLockdownController } from './lockdown.controller';
import { LockdownService } from './lockdown.service';

@Module({
  imports: [StaticIpRulesModule],
  controllers: [OrganizationLockdownController, UserLockdownController],
  providers: [LockdownService],
  exports: [LockdownService],
})
export class LockdownModule {}
