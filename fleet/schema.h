/* SPDX-License-Identifier: MIT */
/* schema.h - the tables of a fleet and the rights of its roles. */
#pragma once

/* SQL for psql; run once by the owner of the database. */
extern const char takt__fleet_ddl[];
