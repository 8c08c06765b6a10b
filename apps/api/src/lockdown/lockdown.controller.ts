import { Body, Controller, Delete, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { PathId } from '../http/path-id';
import { EndedByLockdownDto, LockDownOrganizationDto, LockDownUserDto } from './dto/lockdown.dto';
import { LockdownService } from './lockdown.service';

const LIFTED_BY =
  'By another administrator than the one who declared it, by none who became one since, and by none who is locked down; by the one who declared it where no other could.';

@ApiTags('Lockdown')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('organization/lockdown')
export class OrganizationLockdownController {
  constructor(private readonly lockdowns: LockdownService) {}

  @Post()
  @Operation(
    'Lock down your organization',
    { 200: EndedByLockdownDto, dryRun: null },
    'Ends all live sessions, and refuses to start, extend and renew any until it is lifted. Repeated, it can add the ' +
      'static IP rules.',
  )
  declare(
    @CurrentActor() actor: Actor,
    @Body() { reason, staticRules }: LockDownOrganizationDto,
  ): Promise<EndedByLockdownDto> {
    return this.lockdowns.declare(actor, null, { reason, staticRules: staticRules ?? false });
  }

  @Delete()
  @Operation('Lift the lockdown of your organization', { 204: null, errors: [404] }, LIFTED_BY)
  lift(@CurrentActor() actor: Actor): Promise<void> {
    return this.lockdowns.lift(actor, null);
  }
}

@ApiTags('Lockdown')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('users/:id/lockdown')
export class UserLockdownController {
  constructor(private readonly lockdowns: LockdownService) {}

  @Post()
  @Operation(
    'Lock down a user',
    { 200: EndedByLockdownDto, errors: [404], dryRun: null },
    'As POST /organization/lockdown, for one user, or service user with its API keys and CI jobs.',
  )
  declare(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { reason }: LockDownUserDto,
  ): Promise<EndedByLockdownDto> {
    return this.lockdowns.declare(actor, id, { reason, staticRules: false });
  }

  @Delete()
  @Operation('Lift the lockdown of a user', { 204: null, errors: [404] }, LIFTED_BY)
  lift(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.lockdowns.lift(actor, id);
  }
}
