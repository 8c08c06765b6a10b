import { ApiProperty } from '@nestjs/swagger';
import { flag, line, Optional, Required, TIME } from '../../http/fields';

const SCOPES = ['ORGANIZATION', 'USER'] as const;

export class LockDownUserDto {
  @Required(line(500), {
    example: 'A laptop was stolen: INC-12',
    description: 'shown to everybody who is refused, and kept in the audit trail',
  })
  reason!: string;
}

export class LockDownOrganizationDto extends LockDownUserDto {
  @Optional(flag(), {
    nullable: true,
    default: false,
    description: 'true: static IP rules are closed, too, and opened again when it is lifted',
  })
  staticRules?: boolean | null;
}

export class LockdownDto {
  @ApiProperty({ enum: SCOPES, enumName: 'LockdownScope', example: 'ORGANIZATION' })
  scope!: (typeof SCOPES)[number];
  @ApiProperty({ example: 'A laptop was stolen: INC-12' }) reason!: string;
  @ApiProperty({ example: 'ada@example.com' }) declaredBy!: string;
  @ApiProperty(TIME) declaredAt!: string;
  @ApiProperty({ example: false, description: 'static IP rules are closed, too' }) staticRules!: boolean;
}

export class EndedByLockdownDto {
  @ApiProperty({ type: 'integer', example: 12, description: 'sessions that it has ended' }) sessions!: number;
  @ApiProperty({ type: 'integer', example: 0, description: 'static IP rules that it has closed' })
  staticIpRules!: number;
}
