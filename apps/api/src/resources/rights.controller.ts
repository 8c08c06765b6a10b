import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Database } from '#entities';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import { TIER_LIMITS } from '#rules';
import { TenantStores } from '#tenant-store';
import { Operation } from '../docs/operation';
import { notFound } from '../errors';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import {
  PersonRightDto,
  PersonRightQueryDto,
  ResourceRightDto,
  ResourceRightQueryDto,
} from './dto/right.dto';
import { resourceMissing } from './resources.service';

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
  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
  ) {}

  @Get('resources/:id/people')
  @AdminOnly({ scope: 'audit:read' })
  @Operation('List the people who may open a resource', { 200: [PersonRightDto], errors: [404] })
  async people(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: PersonRightQueryDto,
  ): Promise<ListPage<PersonRightDto>> {
    const { organizationId } = principal;
    const tx = this.database.autocommit;
    if (!(await this.stores.resources.find(tx, organizationId, id))) throw resourceMissing(id);
    return new ListPage(query, await this.stores.rights.peopleOf(tx, organizationId, id, query)).map(
      shown(principal),
    );
  }

  @Get('users/:id/resources')
  @AdminOnly()
  @Operation('List the resources that a user may open', { 200: [ResourceRightDto], errors: [404] })
  async ofUser(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: ResourceRightQueryDto,
  ): Promise<ListPage<ResourceRightDto>> {
    const { organizationId } = principal;
    const tx = this.database.autocommit;
    if (!(await this.stores.users.find(tx, organizationId, id))) throw notFound(`User ${id} does not exist`);
    return new ListPage(query, await this.stores.rights.resourcesOf(tx, organizationId, id, query)).map(
      shown(principal),
    );
  }
}
