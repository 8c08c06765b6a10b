import { moment, Optional } from '../../http/fields';
import { PageQueryDto } from '../../http/page-query.dto';

export class RuleEventQueryDto extends PageQueryDto {
  @Optional(moment(), { description: 'Not before' })
  from?: string;

  @Optional(moment(), { description: 'Not after' })
  to?: string;
}
