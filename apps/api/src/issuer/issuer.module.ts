import { Module } from '@nestjs/common';
import { OrganizationStore } from '#tenant-store';
import { IssuerController } from './issuer.controller';
import { IssuerService } from './issuer.service';

@Module({ controllers: [IssuerController], providers: [IssuerService, OrganizationStore] })
export class IssuerModule {}
