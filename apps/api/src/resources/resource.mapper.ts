import type { ResourceRow } from '#tenant-store';
import type { ResourceDto } from './dto/resource.dto';

export function toResource(resource: ResourceRow): ResourceDto {
  const { region, targetId: _, targetKey: __, targetIdentifier: ___, ...row } = resource;
  return region === null ? row : { ...row, region };
}
