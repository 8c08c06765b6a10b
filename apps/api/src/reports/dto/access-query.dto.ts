import { IsString, MaxLength } from 'class-validator';
import { id, moment, oneOf, Optional, type Kind } from '../../http/fields';

const REPORT_FORMATS = ['json', 'csv'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

const ADDRESS: Kind = {
  checks: [
    IsString({ message: 'must be an IP address or a CIDR range' }),
    MaxLength(100, { message: 'must have at most 100 characters' }),
  ],
  doc: { type: String, example: '203.0.113.10' },
};

export class AccessQueryDto {
  @Optional(id(), { description: 'Access to this resource' })
  resourceId?: string;

  @Optional(id(), { description: 'Access of this user' })
  userId?: string;

  @Optional(ADDRESS, { description: 'Access of this address or of exactly this CIDR range' })
  address?: string;

  @Optional(moment(), { description: 'At this point in time; now, without from and to' })
  at?: string;

  @Optional(moment(), { description: 'From this time on, with to' })
  from?: string;

  @Optional(moment(), { description: 'Until this time, at most 400 days after from' })
  to?: string;

  @Optional(oneOf(REPORT_FORMATS), { default: 'json' })
  format: ReportFormat = 'json';
}
