import { Module } from '@nestjs/common';
import { KnownDeviceStore, SignInFailureStore } from '#tenant-store';
import { LockOut } from './lock-out';

@Module({
  providers: [LockOut, SignInFailureStore, KnownDeviceStore],
  exports: [LockOut, KnownDeviceStore],
})
export class LockOutModule {}
