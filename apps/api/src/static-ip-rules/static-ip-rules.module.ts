import { Module } from '@nestjs/common';
import { StaticIpRuleStore } from '#tenant-store';
import { ResourcesModule } from '../resources/resources.module';
import { StaticIpRulesController } from './static-ip-rules.controller';
import { StaticIpRulesService } from './static-ip-rules.service';

@Module({
  imports: [ResourcesModule],
  controllers: [StaticIpRulesController],
  providers: [StaticIpRulesService, StaticIpRuleStore],
  exports: [StaticIpRulesService],
})
export class StaticIpRulesModule {}
