import { ApiProperty } from '@nestjs/swagger';
import {
  ATTENTION_KINDS,
  ATTENTION_SEVERITIES,
  type AttentionKind,
  type AttentionSeverity,
} from '#tenant-store';
import { anyOf, Optional } from '../../http/fields';
import { TEXT_OR_NULL } from '../../http/nullable';
import { PageQueryDto } from '../../http/page-query.dto';

export class AttentionQueryDto extends PageQueryDto {
  @Optional(anyOf(ATTENTION_KINDS, 'AttentionKind'), { description: 'May be repeated: any of them' })
  kind?: AttentionKind[];

  @Optional(anyOf(ATTENTION_SEVERITIES, 'AttentionSeverity'), { description: 'May be repeated: any of them' })
  severity?: AttentionSeverity[];
}

export class AttentionDto {
  @ApiProperty({ enum: ATTENTION_KINDS, enumName: 'AttentionKind' }) kind!: AttentionKind;
  @ApiProperty({
    enum: ATTENTION_SEVERITIES,
    enumName: 'AttentionSeverity',
    description: 'NOW: access is wrong, or does not work',
  })
  severity!: AttentionSeverity;
  @ApiProperty({ example: 'RESOURCE', description: 'of what objectId is the id' }) objectType!: string;
  @ApiProperty({ format: 'uuid' }) objectId!: string;
  @ApiProperty({ example: 'staging-database' }) objectName!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'null: not recorded' })
  since!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'what is amiss; null: the kind says it' })
  message!: string | null;
  @ApiProperty({ example: 'Do what the message names, then verify the resource.' }) action!: string;
}
