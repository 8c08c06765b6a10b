import { ApiProperty, PartialType } from '@nestjs/swagger';
import type { NoticeSwitch } from '#entities';
import { flag, Required } from '../../http/fields';

class NoticeSwitchesDto implements Record<NoticeSwitch, boolean> {
  @Required(flag(), { example: true, description: 'your access ends soon' }) sessionExpiring!: boolean;
  @Required(flag(), { example: true, description: 'another person ended your access' })
  sessionStopped!: boolean;
  @Required(flag(), {
    example: true,
    description:
      'for administrators: a resource cannot be used, its rules need attention, or all is in order again',
  })
  resourceHealth!: boolean;
  @Required(flag(), { example: true, description: 'for administrators: an agent is away, or there are two' })
  agentAway!: boolean;
  @Required(flag(), { example: true, description: 'for administrators: a trust refused a CI job' })
  trustRefused!: boolean;
  @Required(flag(), {
    example: true,
    description: 'for administrators: a key or static IP rule ends soon',
  })
  keyExpiring!: boolean;
}

export class UpdateNoticesDto extends PartialType(NoticeSwitchesDto, { skipNullProperties: false }) {}

export class NoticesDto extends NoticeSwitchesDto {
  @ApiProperty({ example: true, description: 'false: this deployment has no mail server' }) mailed!: boolean;
}
