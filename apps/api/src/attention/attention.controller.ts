import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { ListPage } from '../http/list-page';
import { ACTIONS } from './actions';
import { AttentionService } from './attention.service';
import { AttentionDto, AttentionQueryDto } from './dto/attention.dto';

@ApiTags('Attention')
@AdminOnly()
@Controller('attention')
export class AttentionController {
  constructor(private readonly attention: AttentionService) {}

  @Get()
  @Operation(
    'List what is not as it should be',
    { 200: [AttentionDto] },
    'What is amiss now first, then what lasts longest; at most 200 of a kind. An item goes when its cause goes: nothing is marked as done.',
  )
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AttentionQueryDto,
  ): Promise<ListPage<AttentionDto>> {
    const found = await this.attention.list(principal, query);
    return new ListPage(query, found).map((row) => ({ ...row, action: ACTIONS[row.kind] }));
  }
}
