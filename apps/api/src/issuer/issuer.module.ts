import { Module } from '@nestjs/common';
import { IssuerController } from './issuer.controller';

@Module({ controllers: [IssuerController] })
export class IssuerModule {}
