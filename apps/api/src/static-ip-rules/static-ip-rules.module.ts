import { Module } from '@nestjs/common';
import { StaticIpRulesController } from './static-ip-rules.controller';
import { StaticIpRulesService } from './static-ip-rules.service';

@Module({
  controllers: [StaticIpRulesController],
  providers: [StaticIpRulesService],
  exports: [StaticIpRulesService],
})
export class StaticIpRulesModule {}
