import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AllowedWhileSuspended, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { NoticesDto, UpdateNoticesDto } from './dto/notices.dto';
import { OwnNotices } from './own-notices';

@ApiTags('Users')
@SignedIn()
@Controller('users/me/notices')
export class OwnNoticesController {
  constructor(private readonly notices: OwnNotices) {}

  @Get()
  @Operation(
    'Get your e-mail notices',
    { 200: NoticesDto },
    'Administrators always get mails about overdue removals, refused credentials and disabled webhooks.',
  )
  find(@CurrentPrincipal() principal: Principal): Promise<NoticesDto> {
    return this.notices.find(principal);
  }

  @Patch()
  @AllowedWhileSuspended()
  @Operation('Choose your e-mail notices', { 200: NoticesDto })
  update(@CurrentActor() actor: Actor, @Body() dto: UpdateNoticesDto): Promise<NoticesDto> {
    return this.notices.update(actor, dto);
  }
}
