import { Module } from '@nestjs/common';
import { SignInFailureStore } from '#entities';
import { LockOut } from './lock-out';

@Module({ providers: [LockOut, SignInFailureStore], exports: [LockOut] })
export class LockOutModule {}
