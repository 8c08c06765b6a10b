import { Module } from '@nestjs/common';
import { RoleMembers } from './role-members';
import { RolesController } from './roles.controller';
import { RolesService } from './roles.service';

@Module({ controllers: [RolesController], providers: [RolesService, RoleMembers], exports: [RolesService] })
export class RolesModule {}
