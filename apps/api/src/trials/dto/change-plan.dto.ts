import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { BulkResultDto } from '../../http/bulk.dto';
import { PlanRefusalDto } from '../../http/plan-refusal';

const TOO_MANY = 'null: too many to compare';
const number = (example: number, description?: string): object => ({
  type: 'integer',
  example,
  ...(description !== undefined && { description }),
});

export class PlannedRightDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty({ format: 'uuid' }) resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
}

export class PlannedRightsDto {
  @ApiProperty({ nullable: true, ...number(3, TOO_MANY) }) total!: number | null;
  @ApiProperty(number(3, 'The total, or what it is at most')) atMost!: number;
  @ApiProperty({ type: [PlannedRightDto], example: [], description: 'The first 50' })
  sample!: PlannedRightDto[];
}

export class ChangedRightsDto {
  @ApiProperty() gained!: PlannedRightsDto;
  @ApiProperty() lost!: PlannedRightsDto;
}

export class ContinuingDto {
  @ApiProperty({ nullable: true, ...number(1, TOO_MANY) }) sessions!: number | null;
}

export class PlannedEndsDto {
  @ApiProperty(number(3)) sessions!: number;
  @ApiProperty(number(2, 'Whose sessions these are, without programs')) people!: number;
  @ApiProperty(number(1, 'Those of the sessions that programs have')) jobs!: number;
  @ApiProperty(number(0, 'Closed or deleted')) staticIpRules!: number;
  @ApiProperty(number(5, 'Rules on targets that nothing of the organization holds any more')) rules!: number;
}

export class PlannedOpeningsDto {
  @ApiProperty(number(0, 'Rules on targets that nothing of the organization holds now')) rules!: number;
}

export class EndedObjectDto {
  @ApiProperty({ enum: ['SESSION', 'STATIC_IP_RULE'] }) kind!: 'SESSION' | 'STATIC_IP_RULE';
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'ada@example.com', description: 'The user’s address, or the label' }) name!: string;
}

export class ChangePlanDto {
  @ApiProperty({ enum: [true], description: 'Nothing was changed' }) dryRun!: true;
  @ApiProperty({
    type: PlanRefusalDto,
    nullable: true,
    description: 'What the request would answer now without dryRun; null: it would be carried out',
  })
  refusal!: PlanRefusalDto | null;
  @ApiPropertyOptional({
    type: [BulkResultDto],
    description:
      'Of a request for many objects, those that it would be refused for. Absent when there are none',
  })
  refused?: BulkResultDto[];
  @ApiProperty({ description: 'Which active people may open which active resources by their roles' })
  rights!: ChangedRightsDto;
  @ApiProperty({ description: 'Live sessions that stay open until they end, though the right is lost' })
  continuing!: ContinuingDto;
  @ApiProperty() ends!: PlannedEndsDto;
  @ApiProperty() opens!: PlannedOpeningsDto;
  @ApiProperty({ type: [EndedObjectDto], description: 'The first 50 of what ends' })
  sample!: EndedObjectDto[];
}
