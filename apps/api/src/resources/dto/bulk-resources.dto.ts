import { ArrayNotEmpty } from 'class-validator';
import { ids, listOf, Required } from '../../http/fields';
import { CreateResourceDto } from './resource.dto';

export class BulkCreateResourcesDto {
  @ArrayNotEmpty({ message: 'must hold at least one resource' })
  @Required(listOf(CreateResourceDto, 100, 'resources'))
  resources!: CreateResourceDto[];
}

export class BulkResourcesDto {
  @ArrayNotEmpty({ message: 'must name at least one resource' })
  @Required(ids(100, 'resources'))
  resourceIds!: string[];
}
