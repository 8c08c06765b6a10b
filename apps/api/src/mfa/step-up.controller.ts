import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AllowedWhileSuspended, SignedIn } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { MfaCodeDto, SteppedUpDto } from './dto/mfa.dto';
import { MfaService } from './mfa.service';

@ApiTags('Accounts and tokens')
@Controller('auth')
export class StepUpController {
  constructor(private readonly mfa: MfaService) {}

  @Post('step-up')
  @SignedIn()
  @AllowedWhileSuspended()
  @Operation(
    'Give a code of your second factor again, for this sign-in',
    { 200: SteppedUpDto },
    'POST /sessions with breakGlass asks for it. Also a recovery code will do.',
  )
  async stepUp(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<SteppedUpDto> {
    return { provenUntil: await this.mfa.stepUp(actor, code) };
  }
}
