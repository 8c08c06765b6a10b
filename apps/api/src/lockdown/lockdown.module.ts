import { Module } from '@nestjs/common';
import { LockdownStore, UserStore } from '#tenant-store';
import { StaticIpRulesModule } from '../static-ip-rules/static-ip-rules.module';
import { LockdownController } from './lockdown.controller';
import { LockdownService } from './lockdown.service';

@Module({
  imports: [StaticIpRulesModule],
  controllers: [LockdownController],
  providers: [LockdownService, LockdownStore, UserStore],
})
export class LockdownModule {}
