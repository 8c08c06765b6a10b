import { inQuery, moment, oneOf, Optional, wholeNumber } from '../../http/fields';

export class AuditExportQueryDto {
  @Optional(moment(), { description: 'Not before' })
  from?: string;

  @Optional(moment(), { description: 'Not after' })
  to?: string;

  @Optional(inQuery(wholeNumber(0, Number.MAX_SAFE_INTEGER)), {
    description: 'Only records after this position: to continue from the end of another export',
  })
  after?: number;

  @Optional(oneOf(['jsonl', 'csv']), { default: 'jsonl' })
  format: 'jsonl' | 'csv' = 'jsonl';
}
