"""The C++20 code of BFB, MultiTree and TACOS, and its binding, ``baselines.native._methods``."""
