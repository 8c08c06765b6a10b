import { Module } from '@nestjs/common';
import { RolesModule } from '../roles/roles.module';
import { StaticIpRulesModule } from '../static-ip-rules/static-ip-rules.module';
import { ReviewsController } from './reviews.controller';
import { ReviewsService } from './reviews.service';

@Module({
  imports: [RolesModule, StaticIpRulesModule],
  controllers: [ReviewsController],
  providers: [ReviewsService],
})
export class ReviewsModule {}
