import { Module } from '@nestjs/common';
import { RoleStore, UserStore } from '#tenant-store';
import { RolesController } from './roles.controller';
import { RolesService } from './roles.service';

@Module({ controllers: [RolesController], providers: [RolesService, RoleStore, UserStore] })
export class RolesModule {}
