import { Module } from '@nestjs/common';
import { RoleStore, UserStore } from '#tenant-store';
import { RoleMembers } from './role-members';
import { RolesController } from './roles.controller';
import { RolesService } from './roles.service';

@Module({ controllers: [RolesController], providers: [RolesService, RoleMembers, RoleStore, UserStore] })
export class RolesModule {}
