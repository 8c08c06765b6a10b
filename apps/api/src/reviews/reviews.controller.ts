import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { BulkResultsDto } from '../http/bulk.dto';
import { ListPage } from '../http/list-page';
import { ReviewDecisionsDto, ReviewDto, ReviewQueryDto } from './dto/review.dto';
import { ReviewsService } from './reviews.service';

@ApiTags('Reviews')
@AdminOnly()
@Controller('reviews')
export class ReviewsController {
  constructor(private readonly reviews: ReviewsService) {}

  @Get()
  @Operation(
    'List who has which role, or the static IP rules, with when each is to be reviewed',
    { 200: [ReviewDto] },
    'membershipReviewDays and staticRuleReviewDays of the organization’s settings say how often. Nothing is removed because a review is late.',
  )
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ReviewQueryDto,
  ): Promise<ListPage<ReviewDto>> {
    return new ListPage(query, await this.reviews.list(principal, query));
  }

  @Post()
  @HttpCode(200)
  @AllowedWhileSuspended()
  @Operation(
    'Confirm or remove memberships and static IP rules',
    { 200: BulkResultsDto, errors: [429] },
    'One’s own is confirmed by another administrator, where there is one: its row is REFUSED with 403. The audit records are the evidence.',
  )
  decide(@CurrentActor() actor: Actor, @Body() { decisions }: ReviewDecisionsDto): Promise<BulkResultsDto> {
    return this.reviews.decide(actor, decisions);
  }
}
