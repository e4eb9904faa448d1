# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules as text: the parameters of a schedule, the entry of the table that they stand
for, and entries read back."""
