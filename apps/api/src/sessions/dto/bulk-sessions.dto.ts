import { ArrayNotEmpty } from 'class-validator';
import { MOST_IN_BULK } from '../../http/bulk.dto';
import { ids, oneOf, Required } from '../../http/fields';

export class BulkSessionsDto {
  @ArrayNotEmpty({ message: 'must name at least one session' })
  @Required(ids(MOST_IN_BULK, 'sessions'))
  sessionIds!: string[];

  @Required(oneOf(['STOP']))
  action!: 'STOP';
}
