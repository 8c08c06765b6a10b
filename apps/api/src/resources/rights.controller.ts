import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { ListQuery, Sliced } from '#entities';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import { TIER_LIMITS } from '#rules';
import { Tenants } from '#tenant-store';
import { Operation } from '../docs/operation';
import { badRequest, notFound } from '../errors';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import {
  PersonRightDto,
  PersonRightQueryDto,
  ResourceRightDto,
  ResourceRightQueryDto,
} from './dto/right.dto';
import { resourceMissing } from './resources.service';
import { MAX_CSV_ROWS, peopleCsv, resourcesCsv } from './rights-csv';

/** A role without its own maximum has that of the plan, which counts where it is less, too. */
const shown =
  ({ tier }: Principal) =>
  <Row extends { readonly hours: number | null }>({ hours, ...row }: Row) => {
    const ofTier = TIER_LIMITS[tier].sessionHours;
    return { ...row, maxSessionDurationHours: Math.min(hours ?? ofTier, ofTier) };
  };

/** Who may open what: GET /reports/access says who did. */
@ApiTags('Resources')
@Controller()
export class RightsController {
  constructor(private readonly stores: Tenants) {}

  @Get('resources/:id/people')
  @AdminOnly({ scope: 'audit:read' })
  @Operation('List the people who may open a resource', { 200: [PersonRightDto], csv: true, errors: [404] })
  async people(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: PersonRightQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ListPage<PersonRightDto> | string> {
    const { organizationId } = principal;
    const { resources, rights } = this.stores;
    const tx = this.stores.autocommit;
    if (!(await resources.find(tx, organizationId, id))) throw resourceMissing(id);
    const list = await rights.peopleOf(tx, organizationId, id, sliceOf(query));
    const page = new ListPage(query, list).map(shown(principal));
    return query.format === 'json' ? page : fileOf(response, 'people', page, peopleCsv);
  }

  @Get('users/:id/resources')
  @AdminOnly()
  @Operation('List the resources that a user may open', { 200: [ResourceRightDto], csv: true, errors: [404] })
  async ofUser(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: ResourceRightQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ListPage<ResourceRightDto> | string> {
    const { organizationId } = principal;
    const { users, rights } = this.stores;
    const tx = this.stores.autocommit;
    if (!(await users.find(tx, organizationId, id))) throw notFound(`User ${id} does not exist`);
    const list = await rights.resourcesOf(tx, organizationId, id, sliceOf(query));
    const page = new ListPage(query, list).map(shown(principal));
    return query.format === 'json' ? page : fileOf(response, 'resources', page, resourcesCsv);
  }
}

/** A file has all of them. */
const sliceOf = (query: ListQuery & { readonly format: 'json' | 'csv' }): ListQuery =>
  query.format === 'json' ? query : { ...query, page: 0, size: MAX_CSV_ROWS };

/** @throws ApiError 400 when there are more rows than a file has */
function fileOf<Row>(
  response: Response,
  name: string,
  { list: { rows, total } }: { readonly list: Sliced<Row> },
  csvOf: (rows: readonly Row[]) => string,
): string {
  if (total > rows.length) {
    const message = `is not for ${total} rows: a file has at most ${MAX_CSV_ROWS}; search, or read pages of json`;
    throw badRequest('The file would be too long', { format: message });
  }
  response.type('text/csv');
  response.attachment(`${name}.csv`);
  return csvOf(rows);
}
