import { Module } from '@nestjs/common';
import { OrganizationStore } from '#tenant-store';
import { OrganizationController } from './organization.controller';
import { OrganizationService } from './organization.service';

@Module({ controllers: [OrganizationController], providers: [OrganizationService, OrganizationStore] })
export class OrganizationModule {}
