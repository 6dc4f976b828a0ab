"""Schedules made of schedules: turned round in time, put in turn, sent hop by hop, cut anew."""

from forestcoll.schedule.transform.in_turn import in_turn
from forestcoll.schedule.transform.lockstep import lockstep
from forestcoll.schedule.transform.shards import by_shards
from forestcoll.schedule.transform.stepwise import stepwise
from forestcoll.schedule.transform.time_reversal import time_reversed

__all__ = ["by_shards", "in_turn", "lockstep", "stepwise", "time_reversed"]
