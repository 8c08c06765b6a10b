import { ArrayNotEmpty } from 'class-validator';
import { ids, oneOf, Required } from '../../http/fields';

export class BulkSessionsDto {
  @ArrayNotEmpty({ message: 'must name at least one session' })
  @Required(ids(100, 'sessions'))
  sessionIds!: string[];

  @Required(oneOf(['STOP']))
  action!: 'STOP';
}
