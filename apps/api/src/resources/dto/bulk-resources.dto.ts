import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsString } from 'class-validator';
import { MOST_IN_BULK } from '../../http/bulk.dto';
import { ids, listOf, NullAsAbsent, Required } from '../../http/fields';
import { LABELS } from '../labels';
import { CreateResourceDto } from './resource.dto';

export class BulkCreateResourcesDto {
  @ArrayNotEmpty({ message: 'must hold at least one resource' })
  @Required(listOf(CreateResourceDto, MOST_IN_BULK, 'resources'))
  resources!: CreateResourceDto[];
}

export class BulkResourcesDto {
  @ArrayNotEmpty({ message: 'must name at least one resource' })
  @Required(ids(MOST_IN_BULK, 'resources'))
  resourceIds!: string[];
}

export class BulkLabelsDto extends BulkResourcesDto {
  @NullAsAbsent(LABELS, { description: 'Added, or given another value' })
  set?: Record<string, string>;

  @NullAsAbsent(
    {
      checks: [
        IsArray({ message: 'must be an array of keys' }),
        IsString({ each: true, message: 'must hold keys of labels' }),
        ArrayMaxSize(20, { message: 'must hold at most 20 keys' }),
      ],
      doc: { type: [String], example: ['env'] },
    },
    { description: 'Keys' },
  )
  remove?: string[];
}
