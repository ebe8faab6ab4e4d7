"""Rankings, clusterings and calibration: functions of arrays that only TRoVe needs."""
