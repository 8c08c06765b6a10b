import { DriverRegistry } from '#drivers';
import { RESOURCE_LIST } from '#tenant-store';
import { Optional, queryFlag } from '../../http/fields';
import { listQueryOf, WholeListQueryDto } from '../../http/list-query.dto';

/** Of every provider, each once. */
const RESOURCE_TYPES = [
  ...new Set(DriverRegistry.providers.flatMap((one) => Object.keys(DriverRegistry.facts(one).resourceTypes))),
];

export class ResourceListQueryDto extends listQueryOf(
  RESOURCE_LIST,
  { resourceType: RESOURCE_TYPES },
  WholeListQueryDto,
) {
  @Optional(queryFlag(), {
    description: 'true: only resources of your roles, which your sessions may name',
  })
  assigned?: boolean;
}

export class DeleteResourceQueryDto {
  @Optional(queryFlag(), {
    default: false,
    description: 'AGENT: true: the host stops guarding the ports that no other resource of the host names',
  })
  releasePorts?: boolean;
}
