import { Moment } from '../../http/moment-field';
import { PageQueryDto } from '../../http/page-query.dto';

export class RuleEventQueryDto extends PageQueryDto {
  @Moment('Not before')
  from?: string;

  @Moment('Not after')
  to?: string;
}
